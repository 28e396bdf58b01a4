variable "a" {
  default = local.x
}
# error 2:13 Not a constant
