"""What runs in the process of a subject: nothing here imports suanzi, so any interpreter will do.

The subject that *is* suanzi, and the one that loads a C library, import it by themselves.
"""
