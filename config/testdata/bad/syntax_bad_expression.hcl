locals {
  a = 1 +
  b = 2
}
# error 2:10 Invalid expression
