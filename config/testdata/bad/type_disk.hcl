type "t" {
  image = "a/b"
  disk  = "lots"
}
# error 3:11 Invalid disk
