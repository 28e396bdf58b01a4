variable "a" {
  sensitive = "perhaps"
  default = 1
}
# error 2:15 Wrong type
