variable "a" {
  default    = 1
  deprecated = " "
}
output "b" {
  value      = 1
  deprecated = true ? null : ""
}
# error 3:16 what to use
# error 7:16 must be
