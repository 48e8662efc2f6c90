"""A reader of the C++ in which aclnn operators check their arguments: as much as that takes."""
