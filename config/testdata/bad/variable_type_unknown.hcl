variable "a" {
  type = strin
  default = 1
}
# error 2:10 Invalid type specification
