locals {
  a = upper("x", "y")
}
# error 2:19 Too many function arguments
