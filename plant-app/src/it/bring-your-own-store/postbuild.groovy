// Checks that the files of this project contain the code blocks of README.md, and that the commands on that page produce
// the results that it shows.

import java.util.concurrent.TimeUnit

def page = new File(basedir, 'README.md').text
def blocks = { language -> (page =~ /(?s)```$language\n(.*?)```/).collect { it[1] } }
def withoutIndent = { text -> text.readLines()*.trim().findAll().join('\n') }

def files = []
basedir.eachFileRecurse(groovy.io.FileType.FILES) { file ->
  if (file.path =~ /pom\.xml$|\/src\//) {
    files << withoutIndent(file.text)
  }
}
(blocks('xml') + blocks('java') + blocks('text')).each { block ->
  assert files.any { it.contains(withoutIndent(block)) }, "no file contains this code block of README.md: $block"
}

def (testsRun) = (page =~ /Tests run: .*/).collect()
assert new File(basedir, 'build.log').text.contains(testsRun)
def (install, verify, start, create) = blocks('sh')
assert install == 'mvn -DskipTests install\n' && verify == 'mvn verify\n'

def freePort = { new ServerSocket(0).withCloseable { it.localPort } }
def port = freePort()
def bash = { command, environment = [:] ->
  def builder = new ProcessBuilder('bash', '-c', command).directory(basedir)
  builder.environment().putAll(environment)
  builder.environment().put('PATH', "${System.getProperty('java.home')}/bin:${System.getenv('PATH')}" as String)
  builder
}
def run = { command ->
  def process = bash(command).redirectErrorStream(true).start()
  def output = process.inputStream.text
  assert process.waitFor(1, TimeUnit.MINUTES)
  output
}
def withService = { command, requests ->
  def log = File.createTempFile('service', '.log', basedir)
  def service = bash("exec > ${log.path} 2>&1\n" + command.replaceAll(/(?m)^java /, 'exec java '),
      [PORT: "$port" as String, MANAGEMENT_PORT: "${freePort()}" as String]).start()
  try {
    def deadline = System.nanoTime() + TimeUnit.MINUTES.toNanos(1)
    while (!log.text.contains('Startup completed')) {
      assert service.alive && System.nanoTime() < deadline, log.text
      Thread.sleep(50)
    }
    requests()
  } finally {
    service.destroyForcibly().waitFor()
  }
}

def createHere = create.replace('localhost:8080', "localhost:$port")
def answer = blocks('json').first().trim()
withService(start) {
  assert run(createHere) == answer
}
// The service has been killed, and is now started again.
withService(start) {
  assert run(createHere) == answer
  assert run(createHere.replace('fern', 'moss')).startsWith('{"error":3001,')
}

def jars = new File(basedir, 'service/target/jars').listFiles()*.path

// Another program has written a row that is not a valid plant, and the store's own message rejects a long text.
def rows = new File(basedir, 'target/Rows.java')
rows.parentFile.mkdirs()
rows.text = """
  public class Rows {
    public static void main(String[] none) throws Exception {
      try (var file = java.sql.DriverManager.getConnection("jdbc:sqlite:nursery.db")) {
        file.createStatement().execute("INSERT INTO plant VALUES (2, 'a' || char(0) || 'b', NULL)");
      }
    }
  }"""
assert !run("java -cp '${jars.join(File.pathSeparator)}' $rows").contains('Exception')
withService(start) {
  def taken = run(createHere.replace('"id":1', '"id":2'))
  assert taken == '{"error":5001,"message":"The service failed because of an internal error; its log contains the reason."}'
  def body = new File(basedir, 'target/long.json')
  body.text = '{"id":3,"name":"fern","tag":"' + 'x' * 1_000_001 + '"}'
  def rejected = run(createHere.replaceFirst(/-d '.*'/, "-d @$body"))
  assert rejected == '{"error":2003,"message":"tag must have at most 1000000 characters, but has 1000001."}'
}

def failedStart = { classPath -> run("java -cp '${classPath.join(File.pathSeparator)}' org.plantstore.app.Main") }
assert failedStart(jars.findAll { !it.contains('nursery-store') }).contains('start: the class path must contain exactly one store, but contains none; add one')

def other = new File(basedir, 'target/other')
new File(other, 'META-INF/services').mkdirs()
new File(other, 'META-INF/services/org.plantstore.domain.PlantStore').text = 'org.example.nursery.OtherPlantStore'
def source = new File(other, 'OtherPlantStore.java')
source.text = '''
  package org.example.nursery;
  public class OtherPlantStore implements org.plantstore.domain.PlantStore {
    public org.plantstore.domain.NewPlant putIfAbsent(org.plantstore.domain.NewPlant plant) {
      return plant;
    }
  }'''
assert run("javac -cp '${jars.join(File.pathSeparator)}' -d $other $source") == ''
assert failedStart([other.path] + jars).endsWith(
    '2: org.example.nursery.OtherPlantStore, org.example.nursery.SqlitePlantStore; remove all but one\n')
