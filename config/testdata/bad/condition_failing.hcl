variable "zone" {
  default = "moon"
}
resource "a" {
  type = "acme/file:1"
  lifecycle {
    precondition {
      condition     = var.zone == "mars"
      error_message = "Not on ${var.zone}."
    }
    postcondition {
      condition     = self.state.ok
      error_message = "It is not."
    }
  }
}
output "o" {
  value = 1
  precondition {
    condition     = length(var.zone) > 10
    error_message = "Too short."
  }
}
# state a {"ok":false}
# error 8:23 Precondition not met
# error 12:23 Postcondition not met
# error 20:21 Precondition not met
