locals {
  a = file("../x")
  b = file("/etc/passwd")
}
# error 2:13 Invalid function argument
# error 3:13 Invalid function argument
