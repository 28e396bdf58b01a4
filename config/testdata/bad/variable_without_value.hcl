variable "a" {
}
variable "b" {
  type = string
}
output "o" {
  value = "${var.a}${var.b}"
}
# error 1:1 A variable has no value
# error 3:1 A variable has no value
