semaphore "restarts" {}
resource "a" {
  type       = "acme/file:1"
  semaphores = [semaphore.restart]
}
# error 4:17 Unknown semaphore
