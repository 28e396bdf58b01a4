resource "a" {
  type = "acme/file:1"
}
variable "size" {
  default = "10mb"
  validation {
    condition     = resource.a.state.ok
    error_message = "No."
  }
}
# error 7:21 Known too late
