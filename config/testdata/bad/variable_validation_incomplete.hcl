variable "size" {
  type = string
  default = "10mb"
  validation {
    condition     = true
  }
}
# error 4:14 Missing required argument
