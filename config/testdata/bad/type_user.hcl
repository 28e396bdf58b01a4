type "t" {
  image = "a/b"
  user = "root"
}
# error 3:10 Invalid user
