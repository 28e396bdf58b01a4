variable "text" {
  default = "{"
}
locals {
  a = jsondecode(var.text)
}
# error 5:7 Error in function call
