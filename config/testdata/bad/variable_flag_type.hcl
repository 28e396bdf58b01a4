variable "a" {
  type = number
}
# var a=many
# error 1:1 Invalid value of a variable
