"""What records the calls of a program, in the process of its framework, without suanzi."""
