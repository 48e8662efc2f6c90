"""Element-wise functions of the array API standard, each declared with its kernel."""
