"""transformation_selecting."""
