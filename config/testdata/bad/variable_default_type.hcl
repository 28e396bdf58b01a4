variable "a" {
  type = number
  default = "x"
}
# error 3:13 Invalid default
