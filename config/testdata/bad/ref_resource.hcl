resource "a" {
  type = "acme/file:1"
}
output "o" {
  value = resource.b.state
}
# error 5:11 Unknown name
