"""The operators, one module per clause of the standard: 7.2.3 is ``transformation``, and so on."""
