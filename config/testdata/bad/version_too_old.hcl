deployster {
  required_version = ">= 9"
}
resource "a" {
  nonsense = 1
}
# error 2:22 Another version is required
