"""Models in files that have a type for every edge and promote nothing: ONNX, OpenVINO IR.

``graph``      a model as calls: a node is a call, an edge says which call made an operand
``casts``      which Casts lose values, and whether a target would have chosen them
``judging``    a graph checked against targets
``onnx_types`` ONNX's type constraints, node by node; ``onnx_model`` reads and fixes files
"""
