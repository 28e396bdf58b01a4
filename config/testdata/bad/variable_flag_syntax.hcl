variable "a" {
  type = list(string)
}
# var a=[x
# error 1:1 Invalid value of a variable
