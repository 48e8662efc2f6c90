"""What everything stands on: dtypes, status codes, shapes, layouts, devices, text and files."""
