type "t" {
  image = "a/b"
  user = "a b"
}
type "u" {
  image  = "a/b"
  user   = "4294967295"
  userns = "private"
}
# error 3:10 Invalid user
# error 7:12 ids end at
# error 8:12 "private" is not a user namespace
