locals {
  a = range(1000000)
}
# error 2:7 Error in function call
