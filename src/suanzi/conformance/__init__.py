"""The conformance kit: any backend held against the standard."""
