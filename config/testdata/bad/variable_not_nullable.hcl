variable "a" {
  type = string
  nullable = false
  default = null
}
# error 4:13 Invalid default
