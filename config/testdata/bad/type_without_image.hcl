type "t" {
  network = "none"
}
# error 1:10 Missing required argument
