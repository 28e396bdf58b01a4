type "t" {
  image = "a/b"
  answer_size = "1TiB"
}
# error 3:17 Invalid answer_size
