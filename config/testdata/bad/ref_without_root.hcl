resource "a" {
  type = "acme/file:1"
}
output "o" {
  value = a.state.ip
}
# error 5:11 Unknown name
