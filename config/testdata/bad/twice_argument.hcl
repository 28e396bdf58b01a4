locals {
  a = 1
  a = 2
}
# error 3:3 Attribute redefined
