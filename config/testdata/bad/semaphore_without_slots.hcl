semaphore "restarts" {
  slots = 0
}
# error 2:11 Invalid slots
