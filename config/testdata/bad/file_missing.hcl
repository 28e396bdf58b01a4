locals {
  a = file("nothing.txt")
}
# error 2:13 Invalid function argument
