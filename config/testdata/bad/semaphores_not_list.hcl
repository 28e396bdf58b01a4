resource "a" {
  type       = "acme/file:1"
  semaphores = "restarts"
}
# error 3:16 Invalid semaphores
