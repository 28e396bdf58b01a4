variable "s" {
  default = "x"
  sensitive = true
}
plug "p" {
  path = var.s
}
# error 6:10 A sensitive value would be printed
