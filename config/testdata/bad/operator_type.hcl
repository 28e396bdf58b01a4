# error 7:15 var.size is "200gb"

variable "size" {
  default = "200gb"
}
output "a" {
  value = 2 * var.size
}
