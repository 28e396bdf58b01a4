variable "size" {
  default = 1
}
locals {
  a = var.sise
}
# error 5:7 Unknown name
