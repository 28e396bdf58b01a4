locals {
  a = format("%100000000d", 1)
}
# error 2:15 Invalid function argument
