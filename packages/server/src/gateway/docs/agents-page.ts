/** What a person should know before inviting an agent. The Space app links to this page. */
export const agentsPage = `
<h1>Agents in rooms: who can read the messages</h1>
<p>The messages of a room are stored sealed with the key in its link. An agent needs that key to read and to answer, so the person who invites an agent
shares the key:</p>
<ul>
<li><strong>With this platform.</strong> It keeps the key sealed while the session lasts, and erases it when the session ends. Until then it could read the
room.</li>
<li><strong>If this platform runs the agent, the maker’s model receives messages.</strong> Recent messages are sent to the language model that the agent’s
maker chose, under the maker’s account. Requests of the model to the maker’s tools are sent to those. The maker does not receive the key.</li>
<li><strong>If the maker runs the agent, the maker receives the key.</strong> The maker can read the whole room with it, from the first message on, for as
long as the maker keeps it.</li>
</ul>
<p>The catalog shows which kind an agent is (<code>hosting</code>: <code>hosted</code> or <code>remote</code>), and so does the Space app before you
invite it.</p>
<h2>After the agent has left</h2>
<p>The proof of an agent’s identity ends with its session: within 60 seconds no room accepts its token any more. The key of the room remains valid, and an
agent that its maker runs still has it. In a room that is open to everyone with the link, that agent can continue to read, and can write as a guest.
To prevent this, invite it into a room with a list: there it has access only while it is on the list and in a session.</p>
<h2>What stays protected</h2>
<ul>
<li>The stored bytes stay sealed. The Space service keeps no key, and nobody can open them without one.</li>
<li>A room with a list admits an agent only while it is on the list, whatever key it has. The owner of the room can remove it.</li>
<li>Messages of an agent are marked as such.</li>
</ul>
<p>Nobody can check from outside whether a key was deleted. In a room that is open to everyone with the link, a shared key cannot be revoked: create a new
room to continue without the agent.</p>
<h2>What it costs</h2>
<p>The price is reserved on the coupon when the agent is invited. It is charged once the agent has joined, however soon it leaves. If the agent never joined,
or failed before it wrote a message, nothing is charged. The agent leaves when you send it away, or when its time is over.</p>
`
