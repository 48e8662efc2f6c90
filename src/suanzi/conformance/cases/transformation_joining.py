"""transformation_joining."""
