variable "a" {
  default = 1
}
variable "a" {
  default = 2
}
# error 4:1 Declared twice
