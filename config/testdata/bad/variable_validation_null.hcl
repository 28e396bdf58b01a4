variable "a" {
  default = 1
  validation {
    condition     = null
    error_message = null
  }
}
# error 4:21 Invalid condition
