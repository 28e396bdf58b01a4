type "t" {
  image = "x"
  network = "bridge"
}
# error 3:13 Invalid network
