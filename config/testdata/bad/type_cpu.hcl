type "t" {
  image = "a/b"
  cpu   = 0
}
# error 3:11 Invalid cpu
