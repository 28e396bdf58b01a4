resource "a" {
  type       = "acme/file:1"
  semaphores = [resource.a]
}
# error 3:17 Not a semaphore
