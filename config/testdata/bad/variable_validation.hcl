variable "size" {
  type = string
  default = "10mb"
  validation {
    condition     = endswith(var.size, "gb")
    error_message = "The size must end in gb."
  }
}
# error 5:21 Invalid value of a variable
