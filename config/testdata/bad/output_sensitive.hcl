variable "pw" {
  default = "x"
  sensitive = true
}
output "o" {
  value = "pw=${var.pw}"
}
# error 6:11 A sensitive value would be printed
