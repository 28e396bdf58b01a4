# error 7:11 a bool is required

variable "c" {
  default = "yes"
}
output "a" {
  value = var.c ? 1 : 2
}
