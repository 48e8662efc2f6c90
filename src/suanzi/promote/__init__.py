"""The promotion engine: rule sets as data, one engine that reads them, and what follows from them.

``values``     what a dtype holds, and what a conversion loses
``operands``   what an operand is: a tensor, a 0-d tensor, a Python number
``operators``  the seven classes of operators that rule sets distinguish
``layers``     what a rule set is made of: pairs, numbers, gates
``rules``      RuleSet
``tables``, ``document``, ``reading``   text tables, which are in ``tables/``, into rule sets
``library``    the rule sets by name
``openvino``, ``strict``, ``lossless``   rule sets that are computed, not tabulated
``engine``     operands to an answer: the only code that applies a rule set
``context``    the rule set in force
``fixes``      what an answer loses, and the cast that fixes it
``keeping``    the cast that keeps the result of another rule set
``explain``, ``table``, ``laws``, ``diff``   answers in the form in which they are shown
``questions``  the public functions
``live``       a rule set against the installed framework
"""
