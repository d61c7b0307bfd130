assert evaluate(new File(basedir, '../../../src/it/postbuild.groovy'))('class-path.txt') == []

// The compiler rejects exactly the lines that contain a comment, for the reason that the comment states.
def expected = []
new File(basedir, 'src/refused/kotlin/Refused.kt').eachLine { line, number ->
  if (line.contains(' // ')) expected << "$number ${line.split(' // ')[1]}".toString()
}
def refused = new File(basedir, 'build.log').text =~ /Refused\.kt:(\d+):\d+ (.*)/
assert refused.collect { "${it[1]} ${it[2]}".toString() }.unique() == expected
