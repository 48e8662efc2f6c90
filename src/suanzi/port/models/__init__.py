"""Models in files that have a type for every edge and promote nothing: ONNX, OpenVINO IR.

``graph``      a model as calls, checked against targets
``onnx_types`` ONNX's type constraints, node by node; ``onnx_model`` reads and fixes files
"""
